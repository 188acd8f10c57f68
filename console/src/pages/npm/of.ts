/** The package that a part of its page is about. */
export interface OfPackage {
  readonly repository: string
  readonly name: string
}

/** One of its versions. */
export interface OfVersion extends OfPackage {
  readonly version: string
}

/** Lists that are others once a version was deleted or is back. */
export const touchedByDeletion = [
  'listDeletedNpmVersions',
  'listNpmVersions',
  'listNpmPackages',
  'getNpmVersion',
] as const
