import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { makeFolder, syncDirectory, writeNamed } from '../../adapters/files/durable-file.ts'
import { errorCode } from '../../adapters/files/errors.ts'
import { signInsKept } from '../../kernel/limits/identity.ts'
import { CommandFailed } from './command-failed.ts'

/** A session that `svc login` began, and whose it is. */
const SignIn = Type.Object({
  address: Type.String(),
  name: Type.String(),
  token: Type.String(),
  expiresAt: Type.String(),
})
export type SignIn = Static<typeof SignIn>
const SignIns = Type.Object({ signIns: Type.Array(SignIn) })

const fileOf = (environment: NodeJS.ProcessEnv): string => {
  const configured = environment['XDG_CONFIG_HOME']
  const folder = configured === undefined || configured === '' ? join(homedir(), '.config') : configured
  return join(folder, 'svc', 'sign-ins.json')
}

/** The sessions that were begun from here, each for an address, the latest first. Throws where they cannot be read. */
export const signIns = (environment: NodeJS.ProcessEnv): readonly SignIn[] => {
  const path = fileOf(environment)
  try {
    const found: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (Value.Check(SignIns, found)) return found.signIns
    throw new Error('it holds something else')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    const why = error instanceof Error ? error.message : String(error)
    throw new CommandFailed('failed', `${path} cannot be read (${why}). Remove it, and sign in again.`)
  }
}

/** The session for an address. */
export const signInAt = (environment: NodeJS.ProcessEnv, address: string): SignIn | undefined =>
  signIns(environment).find((each) => each.address === address)

const others = (environment: NodeJS.ProcessEnv, address: string): SignIn[] =>
  signIns(environment).filter((each) => each.address !== address)

/** A file that only its owner can read, whole at any time. */
const write = async (environment: NodeJS.ProcessEnv, all: readonly SignIn[]): Promise<string> => {
  const path = fileOf(environment)
  await makeFolder(dirname(path))
  await writeNamed(path, async (handle) => {
    await handle.writeFile(`${JSON.stringify({ signIns: all.slice(0, signInsKept) }, null, 2)}\n`)
  })
  await syncDirectory(dirname(path))
  return path
}

/** Keeps a session in the place of an earlier one for its address, and says where. */
export const keepSignIn = (environment: NodeJS.ProcessEnv, signIn: SignIn): Promise<string> =>
  write(environment, [signIn, ...others(environment, signIn.address)])

export const forgetSignIn = (environment: NodeJS.ProcessEnv, address: string): Promise<string> =>
  write(environment, others(environment, address))
