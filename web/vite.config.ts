import { defineConfig } from "vitest/config";
import { licenses } from "./licenses.ts";

const { page, worker } = licenses();

// The product is a handful of files that the binary embeds; names carry a hash,
// as the server lets browsers keep them. No source maps, nothing from outside.
export default defineConfig({
  base: "./",
  plugins: [page],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "dist",
    target: "es2022",
    sourcemap: false,
    assetsInlineLimit: 8192,
    rollupOptions: {
      output: {
        entryFileNames: "assets/[name]-[hash].js",
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
  worker: {
    format: "es",
    plugins: () => [worker],
    rollupOptions: { output: { entryFileNames: "assets/[name]-[hash].js" } },
  },
  test: { include: ["test/**/*.test.ts"], environment: "node" },
  server: {
    proxy: { "/api": process.env["MERIDIAN_URL"] ?? "http://127.0.0.1:8765" },
  },
});
