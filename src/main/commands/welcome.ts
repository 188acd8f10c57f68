import { existsSync } from 'node:fs'
import { openConsoleFiles } from '../console-files.ts'
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
  // Made where it is typed: no password stands in what is printed, nor in whatever keeps that.
  const password = 'password=$(head -c 18 /dev/urandom | base64)'
  const account = String.raw`-d "{\"name\":\"owner\",\"password\":\"$password\"}"`
  const say = `echo "The password of owner: $password" >&2`
  const file = `${api}/repositories/releases/raw/hello/world.txt`
  return [
    ...lines,
    '',
    'To begin, create the first owner (its password is made and shown as you do), store a file, and fetch it:',
    '',
    `  ${password}; curl -fsS ${auth} -H 'Content-Type: application/json' ${account} ${api}/users && ${say}`,
    '',
    `  echo 'Hello, world' | curl -fsS ${auth} -T - ${file}`,
    '',
    `  curl -fsS ${auth} ${file}`,
    '',
    openConsoleFiles() === null
      ? 'The pages for browsers were not built: npm run build:console does that.'
      : `In a browser: ${running.address}/console/ asks for the same key, a name and a password.`,
    '',
  ].join('\n')
}
