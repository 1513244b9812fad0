// Put in by the build wherever bundled packages name the global `Headers`: see docs/decisions/004.
export { HeaderList as Headers } from "../src/base/world/http-headers.ts";
