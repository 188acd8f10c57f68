import { readFileSync } from 'node:fs'

/** The version in package.json, which lies two floors up both in the sources and in what is published. */
export const programVersion = (): string => {
  const parsed: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const version: unknown = typeof parsed === 'object' && parsed !== null && 'version' in parsed ? parsed.version : null
  if (typeof version !== 'string') throw new Error('package.json has no version')
  return version
}
