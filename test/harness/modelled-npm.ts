import { prerelease, rcompare } from 'semver'

/*
 * What a repository with npm packages has to say, by the documents: naive, everything looked at anew after every
 * change. It knows nothing of how the service does it.
 */

/** A version that was published once. */
interface Kept {
  readonly version: string
  readonly size: number
  readonly publishedAt: string
  deprecated: string | null
  deletedAt: string | null
}

/** A change that somebody asks for. */
export type NpmChange =
  | { readonly kind: 'publish'; readonly version: string; readonly tag: string; readonly size: number }
  | { readonly kind: 'tag'; readonly tag: string; readonly version: string }
  | { readonly kind: 'untag'; readonly tag: string }
  | { readonly kind: 'deprecate'; readonly said: Readonly<Record<string, string>> }
  /** At a revision; those that are left are told, or none are left. */
  | { readonly kind: 'unpublish'; readonly left: readonly string[]; readonly at: number }
  | { readonly kind: 'restore'; readonly version: string }
  | { readonly kind: 'own'; readonly owner: string; readonly at: number }

const time = (now: number): string => new Date(now).toISOString()

/** A package, and what became of its numbers. */
export class ModelledPackage {
  /** In the order in which they came. */
  versions: Kept[] = []
  tags = new Map<string, string>()
  /** Numbers that were given up. */
  taken = new Set<string>()
  /** Counts the changes. */
  revision = 0
  createdAt = ''
  modifiedAt = ''
  owners: string[] = []

  get live(): Kept[] {
    return this.versions.filter(({ deletedAt }) => deletedAt === null)
  }

  get deleted(): Kept[] {
    return this.versions.filter(({ deletedAt }) => deletedAt !== null)
  }

  copy(): ModelledPackage {
    const { versions, tags, taken, revision, createdAt, modifiedAt, owners } = this
    return Object.assign(new ModelledPackage(), {
      versions: versions.map((each) => ({ ...each })),
      ...{ tags: new Map(tags), taken: new Set(taken), revision, createdAt, modifiedAt, owners: [...owners] },
    })
  }

  /** Makes a change; answers the status, and has changed nothing unless it is below 300. */
  apply(change: NpmChange, who: string, now: number): number {
    if (change.kind !== 'publish' && change.kind !== 'restore' && this.live.length === 0) return 404
    const status = this.#apply(change, who, now)
    if (status < 300) {
      this.revision += 1
      this.modifiedAt = time(now)
    }
    return status
  }

  #apply(change: NpmChange, who: string, now: number): number {
    switch (change.kind) {
      case 'publish':
        return this.#publish(change, who, now)
      case 'tag':
        if (!this.live.some(({ version }) => version === change.version)) return 404
        this.tags.set(change.tag, change.version)
        return 200
      case 'untag':
        if (change.tag === 'latest') return 400
        return this.tags.delete(change.tag) ? 200 : 404
      case 'deprecate':
        if (!Object.keys(change.said).every((version) => this.#isTaken(version))) return 400
        for (const each of this.live) {
          const said = change.said[each.version]
          if (said !== undefined) each.deprecated = said === '' ? null : said
        }
        return 200
      case 'unpublish':
        if (change.at !== this.revision) return 409
        this.#remove(new Set(change.left), now)
        return 200
      case 'restore':
        return this.#restore(change.version)
      case 'own':
        if (change.at !== this.revision) return 409
        this.owners = [change.owner]
        return 200
    }
  }

  #publish({ version, tag, size }: NpmChange & { kind: 'publish' }, who: string, now: number): number {
    if (this.#isTaken(version)) return 409
    if (this.live.length === 0) {
      this.createdAt = time(now)
      this.owners = [who]
    }
    this.versions.push({ version, size, publishedAt: time(now), deprecated: null, deletedAt: null })
    this.tags.set(tag, version)
    if (!this.tags.has('latest')) this.tags.set('latest', version)
    return 201
  }

  #isTaken(version: string): boolean {
    return this.taken.has(version) || this.versions.some((each) => each.version === version)
  }

  #remove(left: ReadonlySet<string>, now: number): void {
    for (const each of this.live) if (!left.has(each.version)) each.deletedAt = time(now)
    const there = this.live.map(({ version }) => version)
    const stable = there.filter((version) => prerelease(version) === null)
    const [newest] = (stable.length > 0 ? stable : there).toSorted(rcompare)
    for (const [tag, version] of this.tags) {
      if (there.includes(version)) continue
      if (tag === 'latest' && newest !== undefined) this.tags.set(tag, newest)
      else this.tags.delete(tag)
    }
  }

  #restore(version: string): number {
    const found = this.deleted.find((each) => each.version === version)
    if (found === undefined) return 404
    found.deletedAt = null
    if (!this.tags.has('latest')) this.tags.set('latest', version)
    return 200
  }

  /** Time has passed, and upkeep has seen it: what was deleted is given up, and its number with it. */
  upkeep(now: number, graceMs: number): void {
    const isOver = ({ deletedAt }: Kept): boolean => deletedAt !== null && Date.parse(deletedAt) + graceMs <= now
    const over = this.versions.filter(isOver)
    if (over.length === 0) return
    for (const { version } of over) this.taken.add(version)
    this.versions = this.versions.filter((each) => !isOver(each))
    // Nothing is left of the package: one of its name is another one.
    if (this.versions.length === 0) this.revision = 0
  }
}
