import { readFile, stat } from 'node:fs/promises'
import { errorCode } from '../../adapters/files/errors.ts'
import { type SecretFiles, SecretUnusable } from '../../features/operating/webhooks/subscription.ts'
import {
  webhookSecretBytesMax,
  webhookSecretBytesMin,
  webhookSecretReadMs,
  webhooksLookEveryMs,
} from '../../kernel/limits/webhooks.ts'
import { orLater } from '../../kernel/or-later.ts'

const newline = 0x0a
const carriageReturn = 0x0d

/** A secret, without the newline at the end of its file. */
export const readSecret = async (path: string): Promise<Uint8Array> => {
  const bytes = await readBytes(path)
  const end = bytes.at(-1) === newline ? (bytes.at(-2) === carriageReturn ? -2 : -1) : bytes.length
  const secret = bytes.subarray(0, end)
  if (secret.length < webhookSecretBytesMin)
    throw new SecretUnusable(`the secret in ${path} is shorter than ${webhookSecretBytesMin} bytes`)
  return secret
}

const readBytes = async (path: string): Promise<Uint8Array> => {
  try {
    const found = await stat(path)
    // Whoever reads a pipe waits until somebody writes.
    if (!found.isFile()) throw new SecretUnusable(`the secret file ${path} is no file`)
    if (found.size > webhookSecretBytesMax)
      throw new SecretUnusable(`the secret file ${path} is larger than ${webhookSecretBytesMax} bytes`)
    return await readFile(path)
  } catch (error) {
    if (error instanceof SecretUnusable) throw error
    const why = errorCode(error) === 'ENOENT' ? 'does not exist' : `cannot be read (${errorCode(error) ?? 'unknown'})`
    throw new SecretUnusable(`the secret file ${path} ${why}`)
  }
}

type Secrets = readonly Uint8Array[]

/** Nobody waits longer than that for a file system that does not answer, and it is asked one thing at a time. */
const inTime = async (reading: Promise<Secrets>, paths: readonly string[], readMs: number): Promise<Secrets> => {
  const secrets = await orLater(reading, readMs)
  if (secrets !== null) return secrets
  throw new SecretUnusable(`the secret file ${paths.join(' or ')} cannot be read within ${readMs} ms`)
}

/** The secrets of a subscription, read again after a moment, so that what is replaced counts soon. */
export const secretsOf = (
  { secretFile, nextSecretFile }: SecretFiles,
  read = readSecret,
  readMs = webhookSecretReadMs,
): (() => Promise<Secrets>) => {
  const paths = nextSecretFile === null ? [secretFile] : [secretFile, nextSecretFile]
  let last: { readonly secrets: Promise<Secrets>; readonly atMs: number; isOver: boolean } | null = null
  const begin = () => {
    const reading = { secrets: Promise.all(paths.map((path) => read(path))), atMs: performance.now(), isOver: false }
    const end = (): void => void Object.assign(reading, { isOver: true })
    reading.secrets.then(end, end)
    return reading
  }
  return () => {
    if (last === null || (last.isOver && performance.now() - last.atMs >= webhooksLookEveryMs)) last = begin()
    return last.isOver ? last.secrets : inTime(last.secrets, paths, readMs)
  }
}
