
// Fails here when the service is not up.
await fetch(BASE_URL, { redirect: "manual" });
