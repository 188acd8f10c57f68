import { randomUUID } from 'node:crypto'
import { readFile, readlink, statfs } from 'node:fs/promises'

/*
 * A process as others on its machine can ask after it: the boot that it belongs to, the space that its number is from,
 * its number, and when that number was given. Where the system does not tell, a name that nobody can ask after.
 */

const form = /^([0-9a-f]{8})\.(\d+)\.(\d+)\.(\d+)\.[0-9a-f]{8}$/

interface World {
  readonly boot: string
  readonly space: string
}

const world = async (): Promise<World> => ({
  boot: (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).slice(0, 8),
  space: /\d+/.exec(await readlink('/proc/self/ns/pid'))?.[0] ?? '',
})

/** When a process began, in ticks since the boot; null where there is none. The name in the line may hold anything. */
const begun = async (pid: string): Promise<string | null> => {
  try {
    const line = await readFile(`/proc/${pid}/stat`, 'utf8')
    return line.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}

let own: Promise<string> | undefined

const describeOwn = async (): Promise<string> => {
  try {
    const { boot, space } = await world()
    return `${boot}.${space}.${process.pid}.${await begun('self')}`
  } catch {
    return `unknown.${randomUUID()}`
  }
}

/** A name for one try of this process at writing. */
export const writerName = async (): Promise<string> => {
  own ??= describeOwn()
  return `${await own}.${randomUUID().slice(0, 8)}`
}

/** File systems that only one machine has, so that nothing written before its last boot can still arrive. */
const ofOneMachine = new Set([0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0x01021994, 0xf2f52010])

/** Whether the process of that name surely has no thread any more, not even one that hangs in the system. */
export const isSurelyGone = async (writer: string, directory: string): Promise<boolean> => {
  const [, boot, space, pid, since] = form.exec(writer) ?? []
  if (boot === undefined || pid === undefined) return false
  try {
    const here = await world()
    if (here.boot !== boot) return ofOneMachine.has((await statfs(directory)).type)
    return here.space === space && (await begun(pid)) !== since
  } catch {
    return false
  }
}
