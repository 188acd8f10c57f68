/** What a path showed once. */
export interface Revision {
  readonly revision: number
  readonly artifactId: string
  readonly actor: string | null
  readonly actorName: string | null
  readonly createdAt: string | null
  readonly sourceRevision: number | null
  readonly removed?: true
}
