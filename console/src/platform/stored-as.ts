/**
 * The name under which something is stored in the browser. Installations below other paths of the same host have names of
 * their own: none is shown what is another's.
 */
export const storedAs = (name: string): string => `${name}:${new URL(document.baseURI).pathname}`
