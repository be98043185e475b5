/** The environment of the programs that the service starts. The client package has the list, since its programs start others too. */
export { childEnvironment, PACKAGE_SOURCES } from '@svc-ai/client/environment'
