/**
 * One repository for ever. An id may be given again after its repository was deleted; then it is another repository,
 * which `incarnation` tells: it counts how often the id was given. What is bound to a repository is bound to this and
 * not to the id.
 */
export type RepositoryIdentity = `${string}#${number}`

/** No id of a repository holds a `#`. */
export const identityOf = (id: string, incarnation: number): RepositoryIdentity => `${id}#${incarnation}`

export const idIn = (identity: RepositoryIdentity): string => identity.slice(0, identity.lastIndexOf('#'))
