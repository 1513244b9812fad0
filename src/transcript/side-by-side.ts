/** Does `work` for each item, a few at a time. All are tried; the first failure is thrown at the end. */
export async function sideBySide<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const worker = async () => {
    for (let next = rest.next(); !next.done; next = rest.next())
      await work(next.value).catch((error: unknown) => void failures.push(error));
  };
  await Promise.all(Array.from({ length: workers }, worker));
  if (failures.length > 0) throw failures[0];
}

/** As many as there are threads that wait for the disk. */
const workers = 4;
