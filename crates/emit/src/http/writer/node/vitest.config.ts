import { defineConfig } from "vitest/config";

// Files would run at once, and share the service.
export default defineConfig({ test: { fileParallelism: false } });
