import { useCallback, useLayoutEffect, useRef } from 'react'

/**
 * A function that stays the same one and does what the newest of them does: what is given to the rows of a list, which are
 * drawn anew when they are given another one.
 */
export const useStable = <Given extends unknown[], Done>(newest: (...given: Given) => Done) => {
  const now = useRef(newest)
  useLayoutEffect(() => {
    now.current = newest
  })
  return useCallback((...given: Given): Done => now.current(...given), [])
}
