import { readFile, stat } from 'node:fs/promises'
import { errorCode } from '../../adapters/files/errors.ts'
import { type SecretFiles, SecretUnusable } from '../../features/operating/webhooks/subscription.ts'
import { webhookSecretBytesMax, webhookSecretBytesMin, webhooksLookEveryMs } from '../../kernel/limits/webhooks.ts'

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

/** The secrets of a subscription, read again after a moment, so that what is replaced counts soon. */
export const secretsOf = ({ secretFile, nextSecretFile }: SecretFiles): (() => Promise<readonly Uint8Array[]>) => {
  const paths = nextSecretFile === null ? [secretFile] : [secretFile, nextSecretFile]
  let read: { readonly atMs: number; readonly secrets: Promise<readonly Uint8Array[]> } | null = null
  return () => {
    const now = performance.now()
    if (read === null || now - read.atMs >= webhooksLookEveryMs)
      read = { atMs: now, secrets: Promise.all(paths.map(readSecret)) }
    return read.secrets
  }
}
