import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQueries,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { ask, askAs, type Holder } from '../session/holders.ts'
import type { Answer, Given, OperationId } from './call.ts'

/** A read, as long as somebody looks at it. Old data stays where a new look fails. */
export const useAsk = <Id extends OperationId>(
  id: Id,
  given: Given<Id>,
  { enabled = true, everyMs }: { readonly enabled?: boolean; readonly everyMs?: number } = {},
) =>
  useQuery({
    queryKey: [id, given],
    queryFn: ({ signal }): Promise<Answer<Id>> => ask(id, given, signal),
    enabled,
    placeholderData: keepPreviousData,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
  })

/** A read that each holder of this tab is told something of: what came so far, one answer a holder. */
export const useAskAll = <Id extends OperationId>(id: Id, given: Given<Id>, holders: readonly Holder[]): Answer<Id>[] =>
  useQueries({
    queries: holders.map((holder) => ({
      queryKey: [id, given, holder.id],
      queryFn: ({ signal }: { readonly signal: AbortSignal }): Promise<Answer<Id>> => askAs(holder, id, given, signal),
    })),
    combine: (all) => all.flatMap(({ data }) => (data === undefined ? [] : [data])),
  })

/** Operations whose answers are pages: items, and where the next page begins. */
type Paged = {
  [Id in OperationId]: Answer<Id> extends { items: unknown[]; next?: string | number | null } ? Id : never
}[OperationId]

/** Pages that are kept of a list: forty, some thousands of rows. Those before them go, and come again. */
const pagesMax = 40

type Cursor = string | number

/** Where a list begins; `null` would say that there is nothing. */
const beginning = ''

interface Known {
  /** The cursor of the page before; null for the first. */
  readonly before: Cursor | null
  /** How many rows are before it. */
  readonly rows: number
}

const listsMax = 100

/** What is known of the pages of lists, as long as answers are kept of them. */
const lists = new Map<string, Map<Cursor, Known>>()

const pagesOf = (list: string): Map<Cursor, Known> => {
  const known = lists.get(list) ?? new Map([[beginning, { before: null, rows: 0 }]])
  lists.delete(list)
  lists.set(list, known)
  for (const oldest of lists.keys()) if (lists.size > listsMax) lists.delete(oldest)
  return known
}

/**
 * A list by pages, of which a window is kept. A page that went is asked for again by the cursor that led to it, and
 * `offset` says how many rows are before those that are kept, so that nothing moves when pages come and go.
 */
export const useWindow = <Page extends { readonly items: readonly unknown[] }>(
  key: readonly unknown[],
  read: (after: Cursor | undefined, signal: AbortSignal) => Promise<Page>,
  { enabled = true }: { readonly enabled?: boolean } = {},
) => {
  const pages = pagesOf(JSON.stringify(key))
  const list = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => read(pageParam === beginning ? undefined : pageParam, signal),
    initialPageParam: beginning as Cursor,
    getNextPageParam: (last: Page, _: Page[], cursor: Cursor): Cursor | undefined => {
      const next = nextOf(last)
      if (next !== undefined)
        pages.set(next, { before: cursor, rows: (pages.get(cursor)?.rows ?? 0) + last.items.length })
      return next
    },
    getPreviousPageParam: (_: Page, __: Page[], cursor: Cursor): Cursor | null => pages.get(cursor)?.before ?? null,
    maxPages: pagesMax,
    enabled,
    placeholderData: keepPreviousData,
    // Rows do not move under whoever comes back to the tab.
    refetchOnWindowFocus: false,
  })
  return { ...list, offset: pages.get((list.data?.pageParams[0] as Cursor | undefined) ?? beginning)?.rows ?? 0 }
}

/** A list by pages of an operation, each asked for when its end is in sight. */
export const usePages = <Id extends Paged>(
  id: Id,
  given: (after: Cursor | undefined) => Given<Id>,
  options: { readonly enabled?: boolean } = {},
) => useWindow([id, 'pages', given(undefined)], (after, signal) => ask(id, given(after), signal), options)

const nextOf = (page: unknown): Cursor | undefined => {
  const next = typeof page === 'object' && page !== null && 'next' in page ? page.next : undefined
  return typeof next === 'string' || typeof next === 'number' ? next : undefined
}

/** A change; what it touches is read anew. */
export const useChange = <Id extends OperationId>(id: Id, touches: readonly OperationId[] = []) => {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (given: Given<Id>): Promise<Answer<Id>> => ask(id, given),
    onSuccess: () => Promise.all(touches.map((each) => client.invalidateQueries({ queryKey: [each] }))),
  })
}
