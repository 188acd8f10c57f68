import { errorCode } from '../adapters/files/errors.ts'
import type { SettingName } from './settings/names.ts'
import { shownValue } from './settings/shown.ts'

/** A step of the start failed: which setting it came from, what that is, why, and the way out. */
class StartFailed extends Error {
  override readonly name = 'StartFailed'
}

/**
 * Why, and what to do, for what the system says when files are opened, names are looked up and ports are listened on.
 */
const known: Readonly<Record<string, readonly [why: string, wayOut: string]>> = {
  EADDRINUSE: ['another program listens there', 'Stop it, or choose another port'],
  EADDRNOTAVAIL: ['this machine has no such address', 'Use one that it has, or :8080 for all of them'],
  ENOTFOUND: ['no host of this name is known', 'Look for a typing mistake, and at the name server'],
  EAI_AGAIN: ['the name server does not answer', 'Look at the network, or use an address instead of the name'],
  ECONNREFUSED: ['nothing listens there', 'Start it, or correct the address'],
  ETIMEDOUT: ['nobody answers there', 'Correct the address, or look at the network and its firewalls'],
  EHOSTUNREACH: ['there is no way to that address', 'Correct the address, or look at the network'],
  ENOENT: ['it does not exist and cannot be made', 'Create the folder, or choose another one'],
  ENOTDIR: ['a part of the path is a file', 'Choose another path'],
  EEXIST: ['there is something of this name that is no folder', 'Choose another path'],
  EROFS: ['the file system can only be read', 'Mount it writable, or choose another path'],
  ENOSPC: ['the disk is full', 'Make room, or choose another disk'],
  EDQUOT: ['the quota of this user is used up', 'Make room, or raise it'],
  ELOOP: ['its links lead in a circle', 'Choose another path'],
  ENAMETOOLONG: ['the path is too long', 'Choose a shorter one'],
}

const forbidden: Readonly<Partial<Record<SettingName, readonly [why: string, wayOut: string]>>> = {
  SVC_LISTEN: ['this user may not listen there', 'Choose a port above 1023, or give the program the right to'],
}

/** Runs a step of the start. What fails names the setting and its value without secrets, the reason and a way out. */
export const blaming = async <T>(name: SettingName, value: string, work: () => T | Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    const [why, wayOut] = reasonOf(name, error) ?? []
    if (why === undefined) throw error
    throw new StartFailed(`${name} is ${shownValue(name, value)}: ${why}. ${wayOut}.`, { cause: error })
  }
}

const reasonOf = (name: SettingName, error: unknown): readonly [string, string] | null => {
  const cause = deepest(error)
  const code = errorCode(cause) ?? ''
  if (code === 'EACCES' || code === 'EPERM')
    return forbidden[name] ?? ['this user may not write there', 'Give it to the user (chown), or choose another path']
  if (/^(?:28|3D)/.test(code) && cause instanceof Error)
    // The words of PostgreSQL, which name the user or the database and no password.
    return [cause.message, 'Create it, or correct the address']
  return known[code] ?? null
}

/** The first of all causes; of several at once, the first one's. */
const deepest = (error: unknown): unknown => {
  let at = error
  for (let depth = 0; depth < causesMax; depth++) {
    const next = at instanceof AggregateError ? at.errors[0] : at instanceof Error ? at.cause : undefined
    if (next === undefined) return at
    at = next
  }
  return at
}

const causesMax = 20
