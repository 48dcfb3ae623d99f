"""Which class a saved model belongs to."""

# (family, "module:Class"). A class has `to_saved() -> (config, arrays)` and the class method
# `from_saved(config, arrays)`; the module is imported only when such a model is loaded.
FAMILIES: tuple[tuple[str, str], ...] = (
    ("compress.autoencoder", "assay.compress.autoencoder:Autoencoder"),
    ("anomaly.autoencoder", "assay.anomaly.autoencoder:AutoencoderDetector"),
    ("anomaly.denoising", "assay.anomaly.denoising:DenoisingDetector"),
    ("anomaly.forecast", "assay.anomaly.forecast:ForecastDetector"),
    ("surrogate.mlp", "assay.surrogate.mlp:MLPSurrogate"),
    ("surrogate.resnet", "assay.surrogate.resnet:ResNetSurrogate"),
    ("surrogate.ensemble", "assay.surrogate.ensemble:DeepEnsemble"),
    ("surrogate.gp", "assay.surrogate.gp:GaussianProcess"),
    ("surrogate.pca_outputs", "assay.surrogate.outputs:PCAOutputs"),
    ("surrogate.neural_ode", "assay.surrogate.neural_ode:NeuralODE"),
    ("surrogate.calibrated", "assay.surrogate.calibrated:CalibratedSurrogate"),
    ("surrogate.response_surface", "assay.surrogate.response_surface:ResponseSurface"),
    ("surrogate.mean", "assay.surrogate.response_surface:MeanOutput"),
    ("surrogate.nearest", "assay.surrogate.nearest:NearestRuns"),
    ("surrogate.boosting", "assay.surrogate.boosting:Boosting"),
    ("physics.solution", "assay.physics.kept:SavedSolution"),
    ("physics.pinn", "assay.physics.pinn:PINN"),
)
