import { useAsk } from '../contract/asking.ts'

/** Which deployment this is, so that staging is not taken for the one that matters. */
export const Instance = () => {
  const name = useAsk('getAuthOptions', {}).data?.name
  return (
    <span className="instance" title={location.host}>
      {name ?? location.host}
    </span>
  )
}
