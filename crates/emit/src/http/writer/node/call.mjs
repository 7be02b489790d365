
@@ts
interface Options {
@@users_ts
  user?: string;
@@ts
  query?: Record<string, any> | [string, any][];
  headers?: Record<string, any>;
  cookies?: Record<string, any>;
  json?: unknown;
  parts?: [string, any, string?][];
  body?: any;
}

// A response; a header that is absent is no string.
interface Answer {
  status: number;
  headers: { get(name: string): string; has(name: string): boolean };
  mediaType: string;
  cookies: Record<string, string>;
  text: string;
  json: any;
}

@@end
// Sends a request.
@@js
async function call(method, path, options = {}) {
@@ts
async function call(method: string, path: string, options: Options = {}): Promise<Answer> {
@@end
@@users
  const { user, query = [], json, parts } = options;
@@nobody
  const { query = [], json, parts } = options;
@@end
  const headers = new Headers(options.headers);
@@js
  const cookies = { ...options.cookies };
@@ts
  const cookies: Record<string, any> = { ...options.cookies };
@@end
  const url = new URL(/^https?:\/\//.test(path) ? path : BASE_URL + path);
@@js
  for (const [name, value] of new URLSearchParams(query)) {
@@ts
  for (const [name, value] of new URLSearchParams(query as [string, string][])) {
@@end
    url.searchParams.append(name, value);
  }
  let body = options.body;
  if (json !== undefined) {
    body = JSON.stringify(json);
    if (!headers.has("content-type")) {
      headers.set("content-type", "application/json");
    }
  } else if (parts) {
@@js
    body = new FormData();
    for (const part of parts) body.append(...part);
@@ts
    const form = new FormData();
    for (const part of parts) form.append(...(part as [string, Blob, string?]));
    body = form;
@@end
  }
@@users
  if (user) {
    proofs[user] ??= await proofOf(user);
    const proof = proofs[user];
    for (const [name, value] of Object.entries(proof.headers ?? {})) {
      if (!headers.has(name)) headers.set(name, value);
    }
    for (const [name, value] of Object.entries(proof.query ?? {})) {
      url.searchParams.append(name, value);
    }
    Object.assign(cookies, { ...proof.cookies, ...cookies });
  }
@@end
  const jar = Object.entries(cookies).map((pair) => pair.join("="));
  if (jar.length > 0) headers.set("cookie", jar.join("; "));
  const signal = AbortSignal.timeout(TIMEOUT);
  const answer = await fetch(url, { method, headers, body, signal, redirect: "manual" });
  const text = await answer.text();
  const setCookies = answer.headers.getSetCookie().map((line) => line.split(";")[0]);
  return {
    status: answer.status,
@@js
    headers: answer.headers,
@@ts
    headers: answer.headers as Answer["headers"],
@@end
    mediaType: (answer.headers.get("content-type") ?? "").split(";")[0].trim().toLowerCase(),
    cookies: Object.fromEntries(setCookies.map((pair) => pair.split(/=(.*)/s))),
    text,
    get json() {
      return JSON.parse(text);
    },
  };
}
