/** The repository that a part of its page is about. */
export interface Of {
  readonly repository: string
}
