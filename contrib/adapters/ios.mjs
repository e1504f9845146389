// What the iOS adapters share.
import { emit, isWhole } from "./lines.mjs"

/**
 * A notification of an app's state, with the device's clock. 8 is in the foreground, 4 and 2 are
 * not; another number is not known to mean either and stays raw.
 */
export function foreground(row) {
  const time = isWhole(row.mach_absolute_time)
    ? { sourceTimestamp: row.mach_absolute_time, clockDomain: "device-mach" } : {}
  const more = Number.isInteger(row.pid) ? { ...time, pid: row.pid } : time
  if ([8, 4, 2].includes(row.state))
    emit("ios.notifications", "app.state", { ...row, foreground: row.state === 8 }, more)
  else
    emit("ios.notifications", "ios.notification", row, more)
}
