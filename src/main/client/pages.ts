/** The items of all pages of a list, in their order. */
export const everyPage = async <Item>(
  page: (after: string | null) => Promise<{ readonly items: readonly Item[]; readonly next: string | null }>,
): Promise<Item[]> => {
  const items: Item[] = []
  for (let after: string | null = null; ; ) {
    const { items: some, next } = await page(after)
    items.push(...some)
    if (next === null) return items
    after = next
  }
}
