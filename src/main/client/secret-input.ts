import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { generatedPasswordBytes } from '../../kernel/limits/identity.ts'
import { CommandFailed } from './command-failed.ts'

/** Asks at the terminal without showing what is typed. */
const asked = async (question: string): Promise<string> => {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  terminal.once('SIGINT', () => process.exit(130))
  process.stderr.write(question)
  try {
    return await terminal.question('')
  } finally {
    process.stderr.write('\n')
    terminal.close()
  }
}

/** The first line of standard input. */
const piped = async (): Promise<string> => (await text(process.stdin)).split(/\r?\n/, 1)[0] ?? ''

/**
 * A secret from the terminal, where nobody sees it, or from standard input. Never an argument, which everybody sees.
 */
export const secretFromInput = async (what: string): Promise<string> => {
  const secret = process.stdin.isTTY ? await asked(`${what}: `) : await piped()
  if (secret === '') throw new CommandFailed('failed', `${what}: nothing was given on standard input`)
  return secret
}

/** A line that may be seen, from the terminal alone: standard input is for the secret. */
export const lineFromInput = async (what: string): Promise<string> => {
  if (!process.stdin.isTTY) throw new CommandFailed('failed', `${what}: say it as an option, nobody can be asked`)
  const terminal = createInterface({ input: process.stdin, terminal: false })
  process.stderr.write(`${what}: `)
  try {
    return (await terminal.question('')).trim()
  } finally {
    terminal.close()
  }
}

export interface PasswordOptions {
  readonly generate?: boolean
}

export interface Password {
  readonly password: string
  /** Then nobody knows it yet. */
  readonly generated: boolean
}

/** A new password: made up on request, typed twice, or from standard input. */
export const newPassword = async ({ generate = false }: PasswordOptions): Promise<Password> => {
  if (generate) return { password: randomBytes(generatedPasswordBytes).toString('base64url'), generated: true }
  const password = await secretFromInput('Password')
  if (process.stdin.isTTY && (await asked('Again: ')) !== password)
    throw new CommandFailed('failed', 'The two passwords differ.')
  return { password, generated: false }
}
