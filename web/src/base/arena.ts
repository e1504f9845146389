/**
 * Typed arrays cut from a few large buffers: an answer of hundreds of lanes has thousands of
 * arrays, and handing each buffer to another thread costs microseconds on both sides.
 */
const BLOCK = 1 << 20;
const ALIGN = 8;

export class Arena {
  private block = new ArrayBuffer(0);
  private used = 0;

  private take(bytes: number): number {
    const size = Math.ceil(bytes / ALIGN) * ALIGN;
    if (this.used + size > this.block.byteLength) {
      this.block = new ArrayBuffer(Math.max(BLOCK, size));
      this.used = 0;
    }
    const at = this.used;
    this.used += size;
    return at;
  }

  f64(length: number): Float64Array {
    const at = this.take(length * 8);
    return new Float64Array(this.block, at, length);
  }

  f32(length: number): Float32Array {
    const at = this.take(length * 4);
    return new Float32Array(this.block, at, length);
  }

  u32(length: number): Uint32Array {
    const at = this.take(length * 4);
    return new Uint32Array(this.block, at, length);
  }

  u8(length: number): Uint8Array {
    const at = this.take(length);
    return new Uint8Array(this.block, at, length);
  }
}
