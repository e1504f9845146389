import tseslint from "typescript-eslint";

// Layers, highest first. A folder may import only from folders of a lower
// rank; folders of one rank do not know each other.
const RANK = {
  app: 6, views: 5, widgets: 4, tracks: 4, render: 3, state: 3, wire: 2, base: 1,
};

function layerRule(folder) {
  const banned = Object.keys(RANK).filter(
    (other) => other !== folder && RANK[other] >= RANK[folder],
  );
  if (banned.length === 0) return [];
  const group = banned.map((name) => `(^|/)\\.\\./${name}/`).join("|");
  return [{
    files: [`src/${folder}/**/*.{ts,tsx}`],
    rules: {
      "no-restricted-imports": ["error", {
        patterns: [{ regex: group, message: `web/src/${folder} may import only lower layers` }],
      }],
    },
  }];
}

export default tseslint.config(
  { ignores: ["dist", "node_modules"] },
  ...tseslint.configs.recommended,
  {
    files: ["src/**/*.{ts,tsx}", "test/**/*.ts"],
    rules: {
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-non-null-assertion": "off",
      "max-lines": ["error", { max: 1000 }],
      "max-lines-per-function": ["error", { max: 70 }],
      "max-len": ["error", { code: 100, ignoreStrings: true, ignoreTemplateLiterals: true }],
      "prefer-const": "error",
      eqeqeq: "error",
    },
  },
  { files: ["test/**/*.ts"], rules: { "max-lines-per-function": "off" } },
  ...Object.keys(RANK).flatMap(layerRule),
);
