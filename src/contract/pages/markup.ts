import { shownLines } from '../../kernel/shown.ts'

/** Text that is HTML. Only {@link html} makes it, so whatever came from elsewhere is shown in it and never obeyed. */
export interface Markup {
  readonly markup: string
}

type Shown = string | number | Markup | readonly Markup[]

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const textOf = (shown: Shown): string => {
  if (typeof shown === 'string')
    return shownLines(shown).replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
  if (typeof shown === 'number') return String(shown)
  return 'markup' in shown ? shown.markup : shown.map(({ markup }) => markup).join('\n')
}

/**
 * HTML of a template: what stands in it is markup, what is put into it is text, in elements and in quoted attributes.
 * What would turn or hide a text is shown as its code. Lists are put below one another.
 */
export const html = (template: TemplateStringsArray, ...shown: readonly Shown[]): Markup => ({
  markup: template.map((piece, at) => piece + textOf(shown[at] ?? '')).join(''),
})
