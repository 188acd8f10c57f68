import fs, { type NoParamCallback, statSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { GroupSync } from '../../src/database/sqlite/group-sync.ts'

/** A disk that takes its time: while it is held, no sync of a database's log ends. For services in this process. */
export interface HeldLog {
  hold(): void
  release(): void
  /** How many began to wait for something to be durable, ever. */
  readonly waits: number
  /** Puts the real disk back. */
  restore(): void
}

/** Stands between SQLite databases whose services start from now on and their disk. */
export const holdLogOf = (databasePath: () => string): HeldLog => {
  const real = fs.fdatasync
  const { durable } = GroupSync.prototype
  const held: (() => void)[] = []
  let holding = false
  let waits = 0
  const isLog = (descriptor: number): boolean => {
    try {
      return fs.fstatSync(descriptor).ino === statSync(`${databasePath()}-wal`).ino
    } catch {
      return false
    }
  }
  const slow = (descriptor: number, done: NoParamCallback): void => {
    const go = (): void => real(descriptor, done)
    if (holding && isLog(descriptor)) held.push(go)
    else go()
  }
  Object.assign(fs, { fdatasync: slow })
  syncBuiltinESMExports()
  GroupSync.prototype.durable = function (this: GroupSync) {
    waits += 1
    return durable.call(this)
  }
  const release = (): void => {
    holding = false
    for (const go of held.splice(0)) go()
  }
  return {
    hold() {
      holding = true
    },
    release,
    get waits() {
      return waits
    },
    restore() {
      release()
      Object.assign(fs, { fdatasync: real })
      syncBuiltinESMExports()
      GroupSync.prototype.durable = durable
    },
  }
}
