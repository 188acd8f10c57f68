/**
 * Plays power cuts in a record and starts the service on what each of them left: a program, so that several share the
 * work. Its argument is a `Play`; it prints how many cuts fell where, or what was lost.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { randomOf } from '../harness/random.ts'
import { holdsItsPromises } from './power-cut-check.ts'
import { type Change, changesIn } from './recorder.ts'
import { failuresIn, momentsIn, Replay } from './replay.ts'

/** The rounds `part`, `part + parts` and so on of all. */
export interface Play {
  readonly record: string
  readonly root: string
  readonly inode: string
  readonly scratch: string
  readonly recoveryKey: string
  readonly key: string
  readonly seed: string
  readonly rounds: number
  readonly part: number
  readonly parts: number
}

/** A moment in words. */
const placeOf = (changes: readonly Change[], moment: number): string => {
  if (failuresIn(changes).some(({ failed, next }) => moment > failed && moment < next))
    return 'between a failed sync and the next answer'
  const change = changes[moment]
  if (change?.kind === 'syncing') return 'as a sync begins'
  if (change?.kind === 'synced') return 'as a sync ends'
  return 'between syncs'
}

const play = async ({ record, inode, seed, rounds, part, parts, ...all }: Play): Promise<Record<string, number>> => {
  const changes = changesIn(record)
  const replay = new Replay(changes, { ...all, inode: BigInt(inode) })
  const tried: Record<string, number> = {}
  for (const [round, moment] of momentsIn(changes, rounds, randomOf(seed)).entries()) {
    if (round % parts !== part) continue
    replay.to(moment)
    const left = join(all.scratch, `cut-${round}`)
    const known = replay.cut(randomOf(`${seed} ${round}`), left)
    try {
      await holdsItsPromises(join(left, 'data'), replay.promises, all, known)
    } catch (cause) {
      const where = `round ${round} of ${rounds} with the seed ${seed}, after change ${moment} of ${changes.length}`
      throw new Error(`${where}; what was left is in ${left}, the record is ${record}`, { cause })
    }
    rmSync(left, { recursive: true })
    const place = placeOf(changes, moment)
    tried[place] = (tried[place] ?? 0) + 1
  }
  return tried
}

console.log(JSON.stringify(await play(JSON.parse(process.argv[2] ?? ''))))
