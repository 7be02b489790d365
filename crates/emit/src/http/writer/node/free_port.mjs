// A free port.
@@js
async function freePort() {
@@ts
async function freePort(): Promise<string> {
@@end
  const tried = net.createServer().listen(0, "127.0.0.1");
  await once(tried, "listening");
@@js
  const { port } = tried.address();
@@ts
  const { port } = tried.address() as net.AddressInfo;
@@end
  tried.close();
  await once(tried, "close");
  return String(port);
}

