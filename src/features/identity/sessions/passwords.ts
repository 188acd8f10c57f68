import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import {
  passwordHashBytes,
  passwordHashesAtOnce,
  passwordHashMemoryKiB,
  passwordHashPasses,
} from '../../../kernel/limits/identity.ts'
import { createPasswordLine, type Standing } from './password-line.ts'

const derive = promisify(argon2)

/** Hashes and checks passwords with argon2id (RFC 9106) in the thread pool, a few at a time. */
export interface Passwords {
  /** A PHC string with a fresh salt. */
  hash(password: string, standing: Standing): Promise<string>
  /**
   * Takes as long for null (no such account) as for a real hash, and says no. `atTurn` is called once the line has been
   * waited out: what it refuses is not hashed any more.
   */
  matches(password: string, phc: string | null, standing: Standing, onceNext: () => Promise<unknown>): Promise<boolean>
}

interface Parameters {
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
}

const own: Parameters = { memory: passwordHashMemoryKiB, passes: passwordHashPasses, parallelism: 1 }

const run = (password: string, nonce: Uint8Array, parameters: Parameters, tagLength: number): Promise<Buffer> =>
  derive('argon2id', { message: Buffer.from(password.normalize('NFC')), nonce, tagLength, ...parameters })

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/, '')

const phcForm = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

const parse = (phc: string) => {
  const [, memory, passes, parallelism, salt, tag] = phcForm.exec(phc) ?? []
  if (salt === undefined || tag === undefined) throw new Error('a stored password hash is not argon2id in PHC form')
  return {
    parameters: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  }
}

/** Leaves a core to everything else: hashes on all of them made others wait for 30 ms where it is 6 now. */
const coresToSpare = (): number => Math.max(1, Math.min(passwordHashesAtOnce, availableParallelism() - 1))

export const createPasswords = (atOnce = coresToSpare()): Passwords => {
  /** Each hash takes 19 MiB and a thread: the rest waits in line, and beyond the line is told to come back. */
  const { inLine } = createPasswordLine(atOnce)
  const nobody = { parameters: own, salt: randomBytes(16), tag: randomBytes(passwordHashBytes) }
  return {
    hash: (password, standing) =>
      inLine(standing, async () => {
        const salt = randomBytes(16)
        const tag = await run(password, salt, own, passwordHashBytes)
        const { memory, passes, parallelism } = own
        return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(tag)}`
      }),
    matches: (password, phc, standing, onceNext) =>
      inLine(standing, async () => {
        await onceNext()
        const { parameters, salt, tag } = phc === null ? nobody : parse(phc)
        const found = await run(password, salt, parameters, tag.byteLength)
        return timingSafeEqual(found, tag) && phc !== null
      }),
  }
}
