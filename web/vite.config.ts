import { defineConfig } from "vite";

// The product is a handful of files that the binary embeds: no hashes to
// chase in the C side's table, no source maps, nothing fetched from outside.
export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "dist",
    target: "es2022",
    sourcemap: false,
    assetsInlineLimit: 8192,
    rollupOptions: {
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
      },
    },
  },
  worker: {
    format: "es",
    rollupOptions: { output: { entryFileNames: "assets/[name].js" } },
  },
  server: {
    proxy: { "/api": process.env["MERIDIAN_URL"] ?? "http://127.0.0.1:8765" },
  },
});
