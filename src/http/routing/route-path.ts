/**
 * The template of a path in the router's words: `{name}` is a segment, and so is what `{name+}` was folded into
 * (`wildcards.ts`); `{name*}` is the rest of the path.
 */
export const routePath = (template: string): string =>
  template.replace(/\{[a-zA-Z]+\*\}/, '*').replaceAll(/\{([a-zA-Z]+)\+?\}/g, ':$1')

/** The name of what stands for the rest of the path, if anything does. */
export const restName = (template: string): string | null => /\{([a-zA-Z]+)\*\}/.exec(template)?.[1] ?? null
