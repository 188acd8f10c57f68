/** Words of the wire, as patterns for the `u` flag. */
const part = '[a-z0-9][a-z0-9._-]*'

export const patterns = {
  /** A name that something may be published under. */
  name: `^(?:@${part}/)?${part}$`,
} as const

const name = new RegExp(patterns.name, 'u')

/** Names that clients or folders mean something else by. */
const reserved: ReadonlySet<string> = new Set(['node_modules', 'favicon.ico'])

export const isPackageName = (text: string): boolean => name.test(text) && !reserved.has(text)

/** Whether something can be tagged so, as far as characters go. */
export const isTag = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

/** The name without its scope, by which files are called. */
export const shortName = (packageName: string): string => packageName.slice(packageName.indexOf('/') + 1)

/** How the tarball of a version is called. */
export const tarballName = (packageName: string, version: string): string => `${shortName(packageName)}-${version}.tgz`

/** The media type of the short form of a document. */
export const abbreviatedType = 'application/vnd.npm.install-v1+json'

/** Stands in stored documents where the address of the registry goes. JSON has no such character. */
export const registryMark = '\u0001'
