@EXTERNAL_SERVICES@

// Mocks the external services that the service calls.
@@js
let stubs = [];
@@ts
interface Stub {
  service: string;
  method: string;
  path: string;
  status?: number;
  type: string;
  text: string;
  used?: boolean;
}

let stubs: Stub[] = [];
@@end

// Adds a stub; without a status, the connection is closed instead.
@@js
function mockResponse(service, method, path, status, body, contentType) {
@@ts
function mockResponse(
  service: string,
  method: string,
  path: string,
  status?: number,
  body?: any,
  contentType?: string,
) {
@@end
  const text = contentType ? body : JSON.stringify(body);
  const type = contentType ?? "application/json";
  stubs.push({ service, method, path, status, type, text });
}

@@js
function pathMatches(pattern, path) {
@@ts
function pathMatches(pattern: string, path: string) {
@@end
  const [wanted, found] = [pattern.split("/"), path.split("/")];
@@js
  const same = (part, at) => part === "*" || part === found[at];
@@ts
  const same = (part: string, at: number) => part === "*" || part === found[at];
@@end
  return wanted.length === found.length && wanted.every(same);
}

// The first matching stub that is unused, or the last one again.
@@js
function reply(name, request, response) {
@@ts
function reply(name: string, request: IncomingMessage, response: ServerResponse) {
@@end
@@js
  const url = new URL(request.url, "http://" + (request.headers.host ?? "x"));
@@ts
  const url = new URL(request.url ?? "/", "http://" + (request.headers.host ?? "x"));
@@end
  const matching = stubs.filter(
    (stub) =>
      stub.service === (name || url.hostname) &&
      stub.method === request.method &&
      pathMatches(stub.path, url.pathname),
  );
@@js
  const stub = matching.find((stub) => !stub.used) ??
@@ts
  const stub: Partial<Stub> = matching.find((stub) => !stub.used) ??
@@end
    matching.at(-1) ?? { status: 200, type: "application/json", text: "{}" };
  stub.used = true;
  if (!stub.status) {
    request.socket.destroy();
    return;
  }
  response.setHeader("Connection", "close");
  if (stub.text) {
@@js
    response.setHeader("Content-Type", stub.type);
@@ts
    response.setHeader("Content-Type", stub.type ?? "");
@@end
  }
  response.writeHead(stub.status).end(stub.text);
}

@@js
function listen([name, port]) {
@@ts
function listen([name, port]: [string, number]) {
@@end
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => reply(name, request, response));
  });
  server.unref();
@@js
  return new Promise((done, fail) => {
@@ts
  return new Promise<void>((done, fail) => {
@@end
    server.on("error", fail);
    server.listen(port, "127.0.0.1", done);
  });
}

await Promise.all(EXTERNAL_SERVICES.map(listen));
