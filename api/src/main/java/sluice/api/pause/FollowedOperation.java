package sluice.api.pause;

import sluice.api.model.Operation;

/// A pause or a resume that was begun, here or by an agent.
public interface FollowedOperation {
    /// How it stands now.
    Operation look();

    /// Takes a pause back that is not done; a resume goes on. @return how it stands afterwards
    Operation withdraw();
}
