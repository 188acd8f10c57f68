/** Reads the service's metrics; what it answers gives the sum of all lines of a name. */
export const readMetrics = async (base: string, credential: string): Promise<(name: string) => number> => {
  const answer = await fetch(`${base}/health/metrics`, { headers: { authorization: `Bearer ${credential}` } })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${base}/health/metrics: ${answer.status} ${text}`)
  return (name) => {
    const lines = [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))]
    if (lines.length === 0) throw new Error(`there is no metric ${name}`)
    return lines.reduce((sum, line) => sum + Number(line[1]), 0)
  }
}
