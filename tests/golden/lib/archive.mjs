// Archives made here: zip (stored or deflated) and tar (ustar).
import { crc32, deflateRawSync } from "node:zlib"

/** members: [name, bytes][]; deflate: whether they are compressed. */
export function zip(members, deflate = true) {
  const parts = []
  const directory = []
  let at = 0
  for (const [name, content] of members) {
    const bytes = Buffer.from(content)
    const packed = deflate ? deflateRawSync(bytes) : bytes
    const head = Buffer.alloc(30)
    head.writeUInt32LE(0x04034b50, 0)
    head.writeUInt16LE(20, 4)
    head.writeUInt16LE(0x800, 6) // names are UTF-8
    head.writeUInt16LE(deflate ? 8 : 0, 8)
    head.writeUInt32LE(crc32(bytes), 14)
    head.writeUInt32LE(packed.length, 18)
    head.writeUInt32LE(bytes.length, 22)
    head.writeUInt16LE(Buffer.byteLength(name), 26)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE(0x31e, 4)
    head.copy(entry, 6, 4, 30)
    entry.writeUInt32LE((0o100644 << 16) >>> 0, 38)
    entry.writeUInt32LE(at, 42)
    parts.push(head, Buffer.from(name), packed)
    directory.push(entry, Buffer.from(name))
    at += head.length + Buffer.byteLength(name) + packed.length
  }
  const list = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(members.length, 8)
  end.writeUInt16LE(members.length, 10)
  end.writeUInt32LE(list.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, list, end])
}

export function tar(members) {
  const parts = []
  for (const [name, content] of members) {
    const bytes = Buffer.from(content)
    const head = Buffer.alloc(512)
    head.write(name, 0, 100)
    head.write("0000644\0" + "0000000\0" + "0000000\0", 100)
    head.write(bytes.length.toString(8).padStart(11, "0") + "\0", 124)
    head.write("00000000000\0        0", 136)
    head.write("ustar\0" + "00", 257)
    const sum = head.reduce((total, byte) => total + byte, 0)
    head.write(sum.toString(8).padStart(6, "0") + "\0 ", 148)
    parts.push(head, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512))
  }
  return Buffer.concat([...parts, Buffer.alloc(1024)])
}
