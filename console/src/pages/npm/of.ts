/** The package that a part of its page is about. */
export interface OfPackage {
  readonly repository: string
  readonly name: string
}

/** One of its versions. */
export interface OfVersion extends OfPackage {
  readonly version: string
}
