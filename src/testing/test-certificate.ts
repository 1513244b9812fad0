/** A certificate for tests on the loopback: localhost, 127.0.0.1 and secure.test, signed by itself. It guards nothing. */
export function testCertificate(): { key: string; cert: string } {
  return { key: pem("PRIVATE KEY", keyData), cert: pem("CERTIFICATE", certificateData) };
}

function pem(label: string, data: string): string {
  return `-----BEGIN ${label}-----\n${data.replace(/.{64}/g, "$&\n").trim()}\n-----END ${label}-----\n`;
}

const keyData = [
  "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgW3o+6jzsHFPX0gLuSgIgx/UTJwaotb06NiooCg/G1IKhRANC",
  "AAQncQyw0os508Qj+nPwcy2blxHpptpF89qoCsmK0g61t4i7DpxGoM9s8fQcPz8ujtsVVhRDLbUxCpTBBb9BWqNE",
].join("");

const certificateData = [
  "MIIBdTCCARygAwIBAgIBATAKBggqhkjOPQQDAjAVMRMwEQYDVQQDDApjYWRyZSB0ZXN0MCAXDTIwMDEwMTAwMDAwMFoYDzIx",
  "MjAwMTAxMDAwMDAwWjAVMRMwEQYDVQQDDApjYWRyZSB0ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEJ3EMsNKLOdPE",
  "I/pz8HMtm5cR6abaRfPaqArJitIOtbeIuw6cRqDPbPH0HD8/Lo7bFVYUQy21MQqUwQW/QVqjRKNbMFkwDwYDVR0TAQH/BAUw",
  "AwEB/zAnBgNVHREEIDAegglsb2NhbGhvc3SCC3NlY3VyZS50ZXN0hwR/AAABMB0GA1UdDgQWBBROCeYMuScarZVTohlAeAn3",
  "XhwmXDAKBggqhkjOPQQDAgNHADBEAiBIWbK2KM6duGSpdtfI139axS5RHhc/qGnA6/d2JlFpGQIgQyEx99mhGgr4WjidREgC",
  "TDBxWhmNrF9O56HrzJHq7Oc=",
].join("");
