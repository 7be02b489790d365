// Sends a request.
async function call(method, path, options = {}) {
  const { @USER@query = [], json, parts } = options;
  const headers = new Headers(options.headers);
  const cookies = { ...options.cookies };
  const url = new URL(/^https?:\/\//.test(path) ? path : BASE_URL + path);
  for (const [name, value] of new URLSearchParams(query)) {
    url.searchParams.append(name, value);
  }
  let body = options.body;
  if (json !== undefined) {
    body = JSON.stringify(json);
    if (!headers.has("content-type")) {
      headers.set("content-type", "application/json");
    }
  } else if (parts) {
    body = new FormData();
    for (const part of parts) body.append(...part);
  }
@PROOF@
  const jar = Object.entries(cookies).map((pair) => pair.join("="));
  if (jar.length > 0) headers.set("cookie", jar.join("; "));
  const signal = AbortSignal.timeout(TIMEOUT);
  const answer = await fetch(url, { method, headers, body, signal, redirect: "manual" });
  const text = await answer.text();
  const setCookies = answer.headers.getSetCookie().map((line) => line.split(";")[0]);
  return {
    status: answer.status,
    headers: answer.headers,
    mediaType: (answer.headers.get("content-type") ?? "").split(";")[0].trim().toLowerCase(),
    cookies: Object.fromEntries(setCookies.map((pair) => pair.split(/=(.*)/s))),
    text,
    get json() {
      return JSON.parse(text);
    },
  };
}
