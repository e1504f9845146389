/** The one frame scheduler: painters say how much is stale, one frame repaints that much. */

export enum Stale {
  None = 0,
  /** Cursor and selection only. */
  Overlay = 1,
  /** Everything. */
  Full = 2,
}

export type Painter = (stale: Stale) => void;

export class FrameScheduler {
  private readonly painters: Painter[] = [];
  private level: Stale = Stale.None;
  private asked = false;
  /** Script time of the last frames, ms, for the frame probe. */
  lastMs = 0;

  constructor(private readonly request: (run: () => void) => void) {}

  add(painter: Painter): () => void {
    this.painters.push(painter);
    return () => {
      const at = this.painters.indexOf(painter);
      if (at >= 0) this.painters.splice(at, 1);
    };
  }

  invalidate(level: Stale): void {
    if (level > this.level) this.level = level;
    if (this.asked) return;
    this.asked = true;
    this.request(this.run);
  }

  private readonly run = (): void => {
    const level = this.level;
    this.level = Stale.None;
    this.asked = false;
    const began = performance.now();
    for (let at = 0; at < this.painters.length; at++) this.painters[at]!(level);
    this.lastMs = performance.now() - began;
  };
}

export const frames = new FrameScheduler((run) => requestAnimationFrame(run));
