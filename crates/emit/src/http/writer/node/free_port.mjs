// A free port.
async function freePort() {
  const tried = net.createServer().listen(0, "127.0.0.1");
  await once(tried, "listening");
  const { port } = tried.address();
  tried.close();
  await once(tried, "close");
  return String(port);
}
