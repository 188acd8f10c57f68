/** How often others have their turn on the event loop while something is worked on. */
export const othersRoundsWhile = async (work: () => Promise<unknown>): Promise<number> => {
  let rounds = 0
  let goesOn = true
  const other = (): void => {
    rounds += 1
    if (goesOn) setImmediate(other)
  }
  setImmediate(other)
  await work()
  goesOn = false
  return rounds
}
