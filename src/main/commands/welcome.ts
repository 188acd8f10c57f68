import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { keyPaths } from '../keys-file.ts'
import type { Running } from '../run.ts'
import type { Settings } from '../settings/rules.ts'
import { programVersion } from '../version.ts'

/** A shell word that means exactly this text. */
const quoted = (text: string): string =>
  /^[A-Za-z0-9_./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

/**
 * What is printed once the service listens: where, where the recovery key is, and while there is no account, what to
 * type.
 */
export const welcome = async (settings: Settings, running: Running, writable: boolean): Promise<string> => {
  const lines = [`svc ${programVersion()} listens on ${running.address}`]
  const { recoveryKey } = keyPaths(settings)
  if (!writable || !existsSync(recoveryKey)) return lines.join('\n')
  lines.push(`The recovery key is in ${recoveryKey}`)
  if (await running.hasOwner()) return lines.join('\n')
  const auth = `-H "Authorization: Bearer $(cat ${quoted(recoveryKey)})"`
  const api = `${running.address}/api/v1`
  // On a terminal it is gone with the window; elsewhere it would stay in whatever keeps what is printed.
  const password = process.stdout.isTTY ? randomBytes(12).toString('base64url') : 'choose-twelve-letters-or-more'
  const account = JSON.stringify({ name: 'owner', password })
  const file = `${api}/repositories/releases/raw/hello/world.txt`
  return [
    ...lines,
    '',
    'To begin, create the first owner (with this password or your own), store a file, and fetch it:',
    '',
    `  curl -fsS ${auth} -H 'Content-Type: application/json' -d '${account}' ${api}/users`,
    '',
    `  echo 'Hello, world' | curl -fsS ${auth} -T - ${file}`,
    '',
    `  curl -fsS ${auth} ${file}`,
    '',
  ].join('\n')
}
