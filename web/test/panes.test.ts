import { describe, expect, test } from "vitest";
import { DEAD_ZONE, DRAG_FROM, draggedSize } from "../src/widgets/Splitter.tsx";
import { compareCells } from "../src/widgets/Table.tsx";
import { KEYS, keyName } from "../src/views/keys.ts";

describe("pane drag", () => {
  test("nothing moves below the drag threshold and in the dead zone", () => {
    expect(draggedSize(200, DRAG_FROM - 1, DRAG_FROM - 1, 100, 400)).toBe(200);
    expect(draggedSize(200, DEAD_ZONE, DEAD_ZONE, 100, 400)).toBe(200);
    expect(draggedSize(200, 0, 50, 100, 400)).toBe(200);
  });
  test("beyond it the pane follows the pointer within its limits", () => {
    expect(draggedSize(200, 30, 30, 100, 400)).toBe(230);
    expect(draggedSize(200, -30, 30, 100, 400)).toBe(170);
    expect(draggedSize(200, 900, 900, 100, 400)).toBe(400);
    expect(draggedSize(200, -900, 900, 100, 400)).toBe(100);
    expect(draggedSize(200, 900, 900, 100, 50)).toBe(100);
  });
});

describe("keys", () => {
  const press = (key: string, over: Partial<KeyboardEvent> = {}): string =>
    keyName({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...over } as
      KeyboardEvent);
  test("names", () => {
    expect(press("W")).toBe("w");
    expect(press("Z", { shiftKey: true })).toBe("Shift+Z");
    expect(press("?", { shiftKey: true })).toBe("?");
    expect(press("0", { ctrlKey: true })).toBe("Ctrl+0");
    expect(press("0", { metaKey: true })).toBe("Ctrl+0");
    expect(press("ArrowLeft")).toBe("ArrowLeft");
  });
  test("every key of the contract is bound", () => {
    for (const key of ["w", "s", "a", "d", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown",
      "Backspace", "Ctrl+0", "Shift+Z", "f", "m", "q", "?", "Escape"]) {
      expect(KEYS[key], key).toBeTypeOf("function");
    }
  });
});

describe("table order", () => {
  test("numbers by value, unknown last, texts naturally", () => {
    expect([3, NaN, 1].sort(compareCells)).toEqual([1, 3, NaN]);
    expect(["t10", "t2"].sort(compareCells)).toEqual(["t2", "t10"]);
  });
});
