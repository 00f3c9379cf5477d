import { chainName } from '../../api/names.js'
import { useQuery } from '../../api/query.js'
import type { Chain, Page, ShownKey } from '../../api/shapes.js'
import { serviceUrl } from '../../api/site.js'
import { OnceDialog } from '../../parts/OnceDialog.js'
import { endpointsOf } from '../start/snippets.js'

/** A new key, shown this once, with the URLs that it completes. */
export function NewKey({ made, onClose }: { readonly made: ShownKey; onClose(): void }) {
  const chains = useQuery<Page<Chain>>('/chains')
  const urls = (chains.data?.items ?? []).map(
    ({ chainId }) =>
      [
        `URL on ${chainName(chainId)}`,
        endpointsOf(serviceUrl, chainId, made.apiKey).standardUrl,
      ] as const,
  )
  return (
    <OnceDialog
      title={`The key ${made.key.name}`}
      text="The service keeps only its hash: copy it, or the whole URL. It is shown this once."
      values={[['key', made.apiKey], ...urls]}
      onClose={onClose}
    />
  )
}
