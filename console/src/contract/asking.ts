import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ask } from '../session/holders.ts'
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

/** Operations whose answers are pages: items, and where the next page begins. */
type Paged = {
  [Id in OperationId]: Answer<Id> extends { items: unknown[]; next?: string | number | null } ? Id : never
}[OperationId]

/** Pages that are kept of a list: forty, some thousands of rows. Those before them go, and come again. */
const pagesMax = 40

/** A list by pages, each asked for when its end is in sight. `by` is how it calls where to go on. */
export const usePages = <Id extends Paged>(
  id: Id,
  given: (after: string | number | undefined) => Given<Id>,
  { enabled = true }: { readonly enabled?: boolean } = {},
) =>
  useInfiniteQuery({
    queryKey: [id, 'pages', given(undefined)],
    queryFn: ({ pageParam, signal }): Promise<Answer<Id>> => ask(id, given(pageParam), signal),
    initialPageParam: undefined as string | number | undefined,
    getNextPageParam: (last: Answer<Id>): string | number | undefined => nextOf(last),
    maxPages: pagesMax,
    enabled,
    placeholderData: keepPreviousData,
  })

const nextOf = (page: unknown): string | number | undefined => {
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
