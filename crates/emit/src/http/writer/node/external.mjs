
// Mocks the external services that the service calls.
let stubs = [];

// Adds a stub; without a status, the connection is closed instead.
function mockResponse(service, method, path, status, body, contentType) {
  const text = contentType ? body : JSON.stringify(body);
  const type = contentType ?? "application/json";
  stubs.push({ service, method, path, status, type, text });
}

function pathMatches(pattern, path) {
  const [wanted, found] = [pattern.split("/"), path.split("/")];
  const same = (part, at) => part === "*" || part === found[at];
  return wanted.length === found.length && wanted.every(same);
}

// The first matching stub that is unused, or the last one again.
function reply(name, request, response) {
  const url = new URL(request.url, "http://" + (request.headers.host ?? "x"));
  const matching = stubs.filter(
    (stub) =>
      stub.service === (name || url.hostname) &&
      stub.method === request.method &&
      pathMatches(stub.path, url.pathname),
  );
  const stub = matching.find((stub) => !stub.used) ??
    matching.at(-1) ?? { status: 200, type: "application/json", text: "{}" };
  stub.used = true;
  if (!stub.status) {
    request.socket.destroy();
    return;
  }
  response.setHeader("Connection", "close");
  if (stub.text) {
    response.setHeader("Content-Type", stub.type);
  }
  response.writeHead(stub.status).end(stub.text);
}

function listen([name, port]) {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => reply(name, request, response));
  });
  server.unref();
  return new Promise((done, fail) => {
    server.on("error", fail);
    server.listen(port, "127.0.0.1", done);
  });
}
