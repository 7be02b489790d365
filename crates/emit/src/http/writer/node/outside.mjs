
// Stands for the services that the service calls.
let answers = [];

// Prepares an answer; without a status, the connection is closed instead.
function standIn(service, method, path, status, body, contentType) {
  const text = contentType ? body : JSON.stringify(body);
  const type = contentType ?? "application/json";
  answers.push({ service, method, path, status, type, text });
}

function fits(pattern, path) {
  const [wanted, found] = [pattern.split("/"), path.split("/")];
  const same = (part, at) => part === "*" || part === found[at];
  return wanted.length === found.length && wanted.every(same);
}

// The first fitting answer that was not given, or the last one again.
function reply(name, request, response) {
  const url = new URL(request.url, "http://" + (request.headers.host ?? "x"));
  const fitting = answers.filter(
    (answer) =>
      answer.service === (name || url.hostname) &&
      answer.method === request.method &&
      fits(answer.path, url.pathname),
  );
  const answer = fitting.find((answer) => !answer.given) ??
    fitting.at(-1) ?? { status: 200, type: "application/json", text: "{}" };
  answer.given = true;
  if (!answer.status) {
    request.socket.destroy();
    return;
  }
  response.setHeader("Connection", "close");
  if (answer.text) {
    response.setHeader("Content-Type", answer.type);
  }
  response.writeHead(answer.status).end(answer.text);
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
