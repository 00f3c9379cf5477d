import type { Address } from 'viem'
import { ConfigError } from '../../base/errors/configError.js'
import { SignerUnavailableError } from '../../base/errors/processErrors.js'
import { type Pause, pauseAfter, unpaused } from '../../base/pauseAfter.js'
import { createSigner, type ExecutorSigner } from './executorTransaction.js'
import type { AwsKey } from './keyServices/awsKms.js'
import type { AzureKey } from './keyServices/azureVault.js'
import type { GoogleKey } from './keyServices/googleKms.js'
import type { JsonRpcKey } from './keyServices/jsonRpcSigner.js'
import type { RemoteKey } from './keyServices/remoteKey.js'
import type { TurnkeyKey } from './keyServices/turnkey.js'
import type { Web3SignerKey } from './keyServices/web3signer.js'
import { toSignature } from './signature.js'

/** A key in a service. A configured `address` is not asked for, so that a start needs no answer of the service. */
export type ServiceKey = (
  | AwsKey
  | GoogleKey
  | AzureKey
  | TurnkeyKey
  | Web3SignerKey
  | JsonRpcKey
) & { readonly address?: Address | undefined }

/** One try to sign with a service. */
export type SigningReport = {
  readonly service: ServiceKey['kind']
  readonly address: Address
  readonly seconds: number
  /** Absent = it signed. */
  readonly failure?: SignerUnavailableError
}

type Way = {
  readonly service: ServiceKey['kind']
  readonly remote: RemoteKey
  /** After a failure the next way is taken at once, until the pause is over. */
  pause: Pause
  failure: SignerUnavailableError | undefined
}

/**
 * A signer over one key that one or more services hold. The first that is not paused signs; when it fails the
 * next one does. A signature that is not one of the key for exactly this transaction is a failure.
 * @throws SignerUnavailableError when none says its address
 */
export async function openServiceSigner(
  keys: readonly ServiceKey[],
  report: (report: SigningReport) => void,
): Promise<ExecutorSigner> {
  const ways = await Promise.all(keys.map(openWay))
  const address = addressIn(keys) ?? (await askAddress(ways))
  const signsAuthorizations = keys.every((key) => key.kind !== 'jsonRpc' || key.eip7702)
  return createSigner(
    address,
    async (digest, transaction) => {
      for (const way of ways) {
        const { service, remote, pause } = way
        const start = performance.now()
        if (start < pause.until) continue
        const since = (): number => (performance.now() - start) / 1_000
        try {
          const signature = await toSignature(
            address,
            digest,
            await remote.sign(digest, transaction),
          )
          if (signature === undefined)
            throw new SignerUnavailableError(address, `${service} signed with another key`)
          way.pause = unpaused
          report({ service, address, seconds: since() })
          return signature
        } catch (failure) {
          if (!(failure instanceof SignerUnavailableError)) throw failure
          way.failure = failure
          way.pause = pauseAfter(pause, performance.now(), Math.random())
          report({ service, address, seconds: since(), failure })
        }
      }
      throw ways.find(({ failure }) => failure !== undefined)?.failure
    },
    signsAuthorizations,
  )
}

async function openWay(key: ServiceKey): Promise<Way> {
  return { service: key.kind, remote: await load(key), pause: unpaused, failure: undefined }
}

/** Each service is loaded where it is configured. */
async function load(key: ServiceKey): Promise<RemoteKey> {
  switch (key.kind) {
    case 'kms':
      return (await import('./keyServices/awsKms.js')).createAwsKey(key)
    case 'gcp':
      return (await import('./keyServices/googleKms.js')).createGoogleKey(key)
    case 'azure':
      return (await import('./keyServices/azureVault.js')).createAzureKey(key)
    case 'turnkey':
      return (await import('./keyServices/turnkey.js')).createTurnkeyKey(key)
    case 'web3signer':
      return (await import('./keyServices/web3signer.js')).createWeb3SignerKey(key)
    case 'jsonRpc':
      return (await import('./keyServices/jsonRpcSigner.js')).createJsonRpcKey(key)
  }
}

function addressIn(keys: readonly ServiceKey[]): Address | undefined {
  const addresses = new Set(keys.flatMap(({ address }) => address?.toLowerCase() ?? []))
  if (addresses.size > 1)
    throw new ConfigError(`The services of one key name several addresses: ${[...addresses]}.`)
  const [address] = addresses
  return address as Address | undefined
}

/** The address by the first service that says it. */
async function askAddress(ways: readonly Way[]): Promise<Address> {
  let first: unknown
  for (const { remote } of ways) {
    if (remote.findAddress === undefined) continue
    try {
      return await remote.findAddress()
    } catch (error) {
      first ??= error
    }
  }
  throw first
}
