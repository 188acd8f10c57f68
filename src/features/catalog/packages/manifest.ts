import {
  packageGroupMaxCharacters,
  packageManifestDepthMax,
  packageNameMaxCharacters,
  packageVersionMaxCharacters,
} from '../../../kernel/limits/packages.ts'
import { patterns } from '../../../kernel/names.ts'
import { refuseManifest } from './archive-refusal.ts'
import { parseVersion, type Version } from './version-order.ts'

/** What a manifest says, as far as it decides what the package is; the rest is kept as it is. */
export interface Manifest {
  /** Empty for the root group. */
  readonly group: string
  readonly name: string
  readonly version: string
  readonly parsed: Version
  readonly value: object
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
const nameForm = new RegExp(patterns.packageName, 'u')
const onlyDots = /^\.+$/

/**
 * Reads a manifest. A byte order mark before it is forgiven; throws a 400 for anything else that is not as it should
 * be.
 */
export const parseManifest = (bytes: Uint8Array): Manifest => {
  const value = parseObject(decode(bytes))
  const name = textOf(value, 'name')
  if (!isName(name))
    throw refuseManifest(
      '/name',
      `must be 1 to ${packageNameMaxCharacters} letters, digits, _ . or -, and not only dots`,
    )
  const group = 'group' in value && value.group !== null ? textOf(value, 'group') : ''
  if (group !== '' && (group.length > packageGroupMaxCharacters || !group.split('/').every(isName)))
    throw refuseManifest(
      '/group',
      `must have at most ${packageGroupMaxCharacters} characters: segments of letters, digits, _ . or - with / between them`,
    )
  const version = textOf(value, 'version')
  const parsed = parseVersion(version)
  if (parsed === null)
    throw refuseManifest(
      '/version',
      `must be MAJOR.MINOR.PATCH as in SemVer 2.0.0, with at most ${packageVersionMaxCharacters} characters, such as 1.4.0 or 2.0.0-rc.1`,
    )
  return { group, name, version, parsed, value }
}

const isName = (text: string): boolean => nameForm.test(text) && !onlyDots.test(text)

const decode = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    throw refuseManifest('', 'must be UTF-8')
  }
}

const parseObject = (text: string): object => {
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuseManifest('', 'must be a JSON object')
  checkKeys(text)
  return value
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw refuseManifest('', `must be JSON: ${error instanceof SyntaxError ? error.message : 'it cannot be read'}`)
  }
}

const textOf = (value: object, field: string): string => {
  const found: unknown = Object.entries(value).find(([key]) => key === field)?.[1]
  if (found === undefined) throw refuseManifest(`/${field}`, 'is missing')
  if (typeof found !== 'string') throw refuseManifest(`/${field}`, 'must be text')
  return found
}

/** Brackets, commas and whole strings: all that matters to find keys in JSON that is valid. */
const tokens = /[{}[\],]|"[^"\\]*(?:\\.[^"\\]*)*"/g

/**
 * Refuses keys that stand twice in one object, of which programs believe either; keys that change what objects are in
 * some languages; and nesting that nobody could write out again. The text is valid JSON.
 */
const checkKeys = (text: string): void => {
  const open: (Set<string> | null)[] = []
  let keyComesNext = false
  for (const [token] of text.matchAll(tokens)) {
    const keys = open.at(-1)
    if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : null)
      if (open.length > packageManifestDepthMax)
        throw refuseManifest('', `must not be nested more than ${packageManifestDepthMax} deep`)
      keyComesNext = token === '{'
    } else if (token === '}' || token === ']') {
      open.pop()
      keyComesNext = false
    } else if (token === ',') {
      keyComesNext = keys instanceof Set
    } else if (keyComesNext && keys instanceof Set) {
      const key: unknown = JSON.parse(token)
      if (typeof key !== 'string' || key === '__proto__') throw refuseManifest('', 'must not have the key __proto__')
      if (keys.has(key)) throw refuseManifest('', `must not have the key ${JSON.stringify(key.slice(0, 120))} twice`)
      keys.add(key)
      keyComesNext = false
    }
  }
}
