/**
 * What a file is saved as: the last segment of its name, since names may look like paths and clients must not follow
 * them.
 */
export const fileNameOf = (name: string): string =>
  name
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.' && segment !== '..')
    .at(-1) ?? 'download'
