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
